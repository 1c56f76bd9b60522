import type { SharedName } from './shared-parameters.ts';

/** The names of a request body's fields, for code that reads or edits single fields without decoding the body. */
export interface FieldTable {
  /**
   * Paths that the gateway reads or edits in a body of this API. JSON readers that ignore case (Go's encoding/json) take `MODEL` for
   * `model`: a key that folds to one of these is refused.
   */
  readonly read: readonly string[];
  /** Known fields inside of those, for the same rule; `[]` stands for every item of a list. Default: those of `read` */
  readonly inner?: readonly string[];
  /** Parameters that other APIs have too, by all of their names. */
  readonly shared?: ReadonlyMap<string, SharedName>;
  /** Parameters that only other APIs have, for bodies of a conversation. */
  readonly otherApis?: OtherApis;
  /** Groups of paths that mean the same or replace each other. An edit that sets one removes the others. */
  readonly synonyms: readonly (readonly string[])[];
  /** Field names occur in camelCase and in snake_case, as in protobuf's JSON. */
  readonly bothCases: boolean;
  /** Objects whose fields some upstreams read as if they stood at the top level of the body. */
  readonly lifted: readonly string[];
  /** Top-level fields with names of further models, which some upstreams call in place of `model`. */
  readonly models: readonly string[];
  /** Lists of tools, `tools` or `input[].tools`. A tool may name a model, which the upstream calls beside that of the body. */
  readonly toolLists?: readonly string[];
  /** Paths whose keys the caller invents: maps, arguments, JSON Schemas. `[]` stands for every item of a list. */
  readonly freeMaps: readonly string[];
  /** Places of further bodies, or parts of one, inside the body. Default: none */
  readonly nested?: readonly NestedFields[];
  /** Items of the body that declare more of a top-level field. Default: none */
  readonly inItems?: readonly FieldInItems[];
  /** Fields of other operations of the API: a config's parameters for them do not change bodies of this one. */
  readonly foreign?: readonly string[];
}

/** The APIs of a conversation, by whose names a config may write a parameter. */
export type ParameterApi = 'chat' | 'messages' | 'responses' | 'gemini';

export interface WrittenFor {
  /** Undefined: the parameter is set as a field of the request, because it belongs to the request's API or to none. */
  readonly api: ParameterApi | undefined;
  /** The value has a form of its own, so it replaces that of the request and does not merge with it. */
  readonly whole: boolean;
}

/** Finds the parameters of a config that are written for another API than that of the request (written-for.ts). */
export interface OtherApis {
  /** @param value undefined: any */
  writtenFor(path: readonly string[], value: unknown): WrittenFor;
  /** The value with members that it implies, such as the type of `thinking`. */
  completed(key: string, value: unknown): unknown;
  /** True for an object whose members belong to different APIs. */
  isSplit(key: string): boolean;
  /** Fields of the request that mean the same. */
  alike(path: readonly string[], of: ParameterApi): readonly (readonly string[])[];
}

/** Items of a list that declare more of a top-level field. A config that sets or deletes the whole field takes these away. */
export interface FieldInItems {
  readonly field: string;
  /** The top-level field with the list. */
  readonly list: string;
  /** Types of items that have nothing else: they are removed. */
  readonly removed: readonly string[];
  /** Types of items that answer something else: their field is an empty list afterwards. */
  readonly emptied: readonly string[];
}

/** An object, or the items of a list, whose fields rules and overrides name as if they stood at the top level. */
export interface NestedFields {
  /** A top-level field; `name[]` stands for every item of a list. */
  readonly at: string;
  /** The fields that an override changes there, as the API spells them. Field rules apply to all. */
  readonly fields: readonly string[];
  /** The fields have no other place: an override creates the object. Otherwise they are at the top level of a body without it. */
  readonly only: boolean;
}
