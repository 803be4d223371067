export * from "./support/lenden.ts";
