import { readFileSync } from "node:fs";
import { resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

/** The bill of materials of the built tool, as far as the tests read it. */
export interface Sbom {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface Component {
  "bom-ref": string;
  group?: string;
  name: string;
  version: string;
  scope?: "optional";
  purl: string;
  licenses: { license?: { id: string }; expression?: string }[];
  evidence?: { occurrences: { location: string }[] };
}

export function builtSbom(): Sbom {
  return JSON.parse(readFileSync(resolve(root, "dist/sbom.cdx.json"), "utf8"));
}

/** Its name as one writes it in an import. */
export function nameOf({ group, name }: Component): string {
  return group ? `${group}/${name}` : name;
}

/** Of the packages whose code is bundled; the others may come with it when it is installed. */
export function isBundled({ scope }: Component): boolean {
  return scope !== "optional";
}

/** The files of the bundle that hold code of a package. */
export function filesOf({ evidence }: Component): string[] {
  return (evidence?.occurrences ?? []).map(({ location }) => location);
}
