import { execFileSync } from "node:child_process";

/** The tests run the built tool: it is built anew, so that they never see an old one. */
export default function build(): void {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
}
