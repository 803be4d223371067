import type { Contract, Data, Input } from "../api/contract/endpoint.ts";

/**
 * One function per endpoint. A missing one does not compile, nor does a reply that lacks a
 * documented field: what the contract lets the real service leave out is null here.
 */
export type Handlers<C extends Contract> = {
  [Name in keyof C]: (input: Input<C[Name]>) => Reply<Data<C[Name]>>;
};

type Reply<Data> = unknown extends Data
  ? object
  : Data extends readonly (infer Item)[]
    ? Documented<Item>[]
    : Documented<Data>;

/** The documented fields alone, every one of them present. */
export type Documented<Data> = {
  [Name in keyof Data as string extends Name
    ? never
    : number extends Name
      ? never
      : Name]-?: Exclude<Data[Name], undefined>;
};
