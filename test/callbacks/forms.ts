/** A tree as PHP, Rails and many others write it into a form: `data[status]=Completed`. */
export function bracketed(tree: unknown, name = ""): string[] {
  if (typeof tree !== "object" || tree === null)
    return [`${encodeURIComponent(name)}=${encodeURIComponent(String(tree))}`];
  return Object.entries(tree).flatMap(([key, one]) =>
    bracketed(one, name === "" ? key : `${name}[${key}]`),
  );
}

/** The same as .NET and others write it: `data.status=Completed`. */
export function dotted(tree: unknown): string[] {
  return bracketed(tree).map((pair) => pair.replaceAll("%5B", ".").replaceAll("%5D", ""));
}

export function multipart(fields: Record<string, string>): string {
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--------------------------d74496d66958873e\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join("")}--------------------------d74496d66958873e--\r\n`;
}
