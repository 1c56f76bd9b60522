import type { AttributeValue } from '@opentelemetry/api';
import type { LineParts } from './line-parts.ts';

/** The values of fields, by their notation in JSON. */
interface Notations {
  /** A text that recurs from request to request. */
  readonly text: string;
  /** A text of one request. */
  readonly unique: string;
  readonly plain: number | boolean;
  /** Milliseconds, rounded to microseconds. */
  readonly ms: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly texts: string[];
  /** An object that few requests have; see `group` for others. */
  readonly json: object;
}

/** The names of a field in the places that show it. Without a name the place does not show it. */
export interface ShownAs {
  /** In the access line. */
  readonly line?: string;
  /** In the admin listener's records. */
  readonly record?: string;
}

/** A field with one value. */
type SingleField<T> = {
  [N in keyof Notations]: ShownAs & {
    readonly as: N;
    /** Undefined: the value is absent. */
    readonly value: (of: T) => Notations[N] | undefined;
    /** The access line has `null` in place of an absent value. */
    readonly orNull?: true;
    /** Attribute of its span. */
    readonly span?: Notations[N] extends AttributeValue ? string : never;
  };
}[keyof Notations];

/** A field of objects that have fields of their own; see `rows` and `group`. */
interface NestedField<T> extends ShownAs {
  readonly as: 'nested';
  /** Adds the field to a line under this name, which has the comma before it and the colon. */
  readonly addToLine: (name: string) => (of: T, into: LineParts) => void;
  readonly store: StoreValues<T>;
  readonly read: (from: ValueReader) => unknown;
  readonly span?: never;
}

/** One fact of a record: its value, and its name in each place that shows it. */
export type RecordField<T> = SingleField<T> | NestedField<T>;

/** A value of a stored record. A stored record holds no objects. */
export type StoredValue = string | number | boolean | undefined;

/** Writes values from the position `at` on. Returns the position after them. */
export type StoreValues<T> = (of: T, into: StoredValue[], at: number) => number;

/** Reads stored values in the order in which they were written. */
export class ValueReader {
  readonly #values: readonly StoredValue[];
  #at = 0;

  constructor(values: readonly StoredValue[]) {
    this.#values = values;
  }

  next(): StoredValue {
    const value = this.#values[this.#at];
    this.#at += 1;
    return value;
  }
}
