/**
 * The type of the values that a JSON Schema allows: the schema is a literal, and its type has what it says. `const`, `enum`, `anyOf`,
 * `oneOf`, `type`, `properties`, `required`, `default`, `additionalProperties` and `items` are read; a schema without any of them gives `unknown`.
 */
export type OptionsOf<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
      ? OptionsOf<Branch>
      : S extends { readonly type: infer Name }
        ? OfType<Name extends readonly (infer One)[] ? One : Name, S>
        : unknown;

/** One JSON type of the schema; a union distributes over its members. */
type OfType<Name, S> = Name extends 'string'
  ? string
  : Name extends 'number' | 'integer'
    ? number
    : Name extends 'boolean'
      ? boolean
      : Name extends 'null'
        ? null
        : Name extends 'array'
          ? (S extends { readonly items: infer Item } ? OptionsOf<Item> : unknown)[]
          : Name extends 'object'
            ? ObjectOf<S>
            : unknown;

type ObjectOf<S> = S extends { readonly properties: infer Properties }
  ? Flat<
      { -readonly [Key in keyof Properties & GivenOf<S, Properties>]: OptionsOf<Properties[Key]> } & {
        -readonly [Key in Exclude<keyof Properties, GivenOf<S, Properties>>]?: OptionsOf<Properties[Key]>;
      }
    >
  : Record<
      string,
      S extends { readonly additionalProperties: infer Value extends object } ? OptionsOf<Value> : unknown
    >;

/** The keys that are always there: they are required, or have a default. */
type GivenOf<S, Properties> =
  | RequiredOf<S>
  | {
      [Key in keyof Properties]: Properties[Key] extends { readonly default: unknown } ? Key : never;
    }[keyof Properties];

type RequiredOf<S> = S extends { readonly required: readonly (infer Key)[] } ? Key : never;

/** An intersection as one object type, which editors show with its members. */
type Flat<T> = { [Key in keyof T]: T[Key] };
