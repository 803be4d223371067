/** Every folder that installing the product for use may fill: its dependencies, and theirs. */
export function installed(lock) {
  const found = new Set();
  const add = (folder) => {
    if (found.has(folder)) return;
    found.add(folder);
    for (const one of needs(lock, folder)) add(one);
  };
  for (const folder of needs(lock, "")) add(folder);
  return [...found];
}

/** The folders of the packages that the one in this folder names; "" is the product itself. */
export function needs(lock, folder, kinds = ["dependencies", "optionalDependencies"]) {
  const entry = lock.packages[folder] ?? {};
  const names = kinds.flatMap((kind) => Object.keys(entry[kind] ?? {}));
  return names.map((name) => lookUp(lock, folder, name)).filter((found) => found !== undefined);
}

/** Each optional dependency without an entry, and the folder of the package that names it. */
export function missingOptional(lock) {
  return Object.entries(lock.packages).flatMap(([folder, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => lookUp(lock, folder, name) === undefined)
      .map((name) => ({ name, folder })),
  );
}

/** As Node looks for a package: beside the one that asks, and then one level up after the other. */
function lookUp(lock, from, name) {
  const path = from === "" ? `node_modules/${name}` : `${from}/node_modules/${name}`;
  if (lock.packages[path]) return path;
  return from === ""
    ? undefined
    : lookUp(lock, from.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, ""), name);
}
