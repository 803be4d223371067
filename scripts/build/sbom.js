import { createHash } from "node:crypto";
import { installed, needs } from "./lockfile.js";

/**
 * The bill of materials, CycloneDX 1.6: the product, every package whose code is bundled with the
 * files that hold it, and what installing the product may bring besides. It holds no time and
 * nothing random, so that the same sources give the same bytes.
 */
export function sbom({ product, packages, lock }) {
  const { name, version, license, description } = product;
  const root = componentOf({ name, version, license, type: "application", description });
  const components = [
    ...packages.map((one) => bundledComponent(one, lock)),
    ...installed(lock).map((folder) => installedComponent(folder, lock)),
  ].sort(byRef);
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: serialNumberOf([root, components]),
    version: 1,
    metadata: { lifecycles: [{ phase: "build" }], component: root },
    components,
    dependencies: dependenciesOf(root, components, lock),
  };
}

function bundledComponent({ folder, files, ...one }, lock) {
  const entry = lock.packages[folder];
  return {
    ...componentOf({ ...one, folder }),
    ...(entry?.version === one.version && { hashes: [hashOf(entry.integrity)] }),
    evidence: { occurrences: files.map((location) => ({ location })) },
  };
}

function installedComponent(folder, lock) {
  const { version, license, integrity } = lock.packages[folder];
  const name = folder.split("node_modules/").at(-1);
  return {
    ...componentOf({ name, version, license, folder }),
    scope: "optional",
    hashes: [hashOf(integrity)],
  };
}

/** A package is referred to by its folder: one name may be there in two versions. */
function componentOf({ name, version, license, folder = name, type = "library", description }) {
  const [scope, short] = name.startsWith("@") ? name.split("/") : [undefined, name];
  const isOneLicence = /^[\w.+-]+$/.test(license);
  return {
    type,
    "bom-ref": folder,
    ...(scope && { group: scope }),
    name: short,
    version,
    ...(description && { description }),
    licenses: [isOneLicence ? { license: { id: license } } : { expression: license }],
    purl: `pkg:npm/${scope ? `${scope.replace("@", "%40")}/` : ""}${short}@${version}`,
  };
}

function dependenciesOf(root, components, lock) {
  const known = new Set(components.map((one) => one["bom-ref"]));
  const knownNeeds = (folder, kinds) =>
    needs(lock, folder, kinds)
      .filter((one) => known.has(one))
      .sort();
  // What is bundled is a development dependency: installing lenden does not bring it once more.
  const ofRoot = knownNeeds("", ["devDependencies", "optionalDependencies"]);
  return [
    { ref: root["bom-ref"], dependsOn: ofRoot },
    ...components.map(({ "bom-ref": ref }) => ({ ref, dependsOn: knownNeeds(ref) })),
  ];
}

/** The digest of the archive that a package came in, from base64 as npm writes it. */
function hashOf(integrity) {
  const [algorithm, digest] = integrity.split("-", 2);
  return {
    alg: algorithm.toUpperCase().replace("SHA", "SHA-"),
    content: Buffer.from(digest, "base64").toString("hex"),
  };
}

/** Follows from the content. UUIDs of version 8 are those that everybody makes in a way of their own. */
function serialNumberOf(content) {
  const hex = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  return `urn:uuid:${[...parts, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-")}`;
}

function byRef(one, other) {
  return one["bom-ref"] < other["bom-ref"] ? -1 : 1;
}
