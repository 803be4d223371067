// Preloaded into the built tool on the machine of a developer who uses lenden: an agent's run is bound to the directories
// in the home of its user, and tests must not use those.
import os, { userInfo } from "node:os";

Object.assign(os, { userInfo: () => ({ ...userInfo(), homedir: "/nonexistent" }) });
