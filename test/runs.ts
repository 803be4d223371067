export { runs } from "./support/lenden.ts";
