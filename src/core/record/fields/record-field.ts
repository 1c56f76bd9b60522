import type { AttributeValue } from '@opentelemetry/api';
import type { LineParts } from './line-parts.ts';

/** The values of fields, by their notation in JSON. */
export interface Notations {
  /** A text that recurs from request to request. */
  readonly text: string;
  readonly unique: string;
  readonly plain: number | boolean;
  /** Milliseconds, rounded to microseconds. */
  readonly ms: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly texts: readonly string[];
  /** An object that few requests have; see `group` for others. */
  readonly json: object;
}

/** The names of a field in the places that show it. Without a name the place does not show it. */
export interface ShownAs {
  readonly line?: string;
  /** In the admin listener's records. */
  readonly record?: string;
}

type Name<T> = Extract<keyof T, string>;
type NamesOf<T, V> = { [K in Name<T>]: T[K] extends V | undefined ? K : never }[Name<T>];

/** The property that has the value, or a function that derives it. Undefined: the value is absent. */
type FieldValue<T, V> = NamesOf<T, V> | ((of: T) => V | undefined);

type SingleField<T> = {
  [N in keyof Notations]: ShownAs & {
    readonly as: N;
    readonly value: FieldValue<T, Notations[N]>;
    /** The access line has `null` in place of an absent value. */
    readonly orNull?: true;
    readonly span?: Notations[N] extends AttributeValue ? string : never;
  };
}[keyof Notations];

/** A field of objects that have fields of their own; see `rows` and `group`. */
interface NestedField<T> extends ShownAs {
  readonly as: 'nested';
  /** Adds the member to a line under this name, which has the comma before it and the colon. */
  readonly lineAdder: (name: string) => (of: T, into: LineParts) => void;
  /** The value in the admin listener's records. */
  readonly valueOf: (of: T) => unknown;
  readonly span?: never;
}

/** One fact of a record: its value, and its name in each place that shows it. */
export type RecordField<T> = SingleField<T> | NestedField<T>;

export function readerOf<T, V>(value: FieldValue<T, V>): (of: T) => V | undefined {
  if (typeof value === 'function') return value;
  // `FieldValue` admits the names of properties that have such a value, which TypeScript cannot follow.
  return (of) => of[value as keyof T] as V | undefined;
}
