import type { AttributeValue } from '@opentelemetry/api';

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
  /** An object of numbers. */
  readonly numbers: object;
  /** Any other object. */
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

/** A field with a list of objects; see `rows`. */
interface RowsField<T> extends ShownAs {
  readonly as: 'rows';
  readonly lineText: (of: T) => string | undefined;
  readonly stored: (of: T) => StoredValue;
  readonly named: (stored: readonly StoredValue[][]) => object[];
  readonly span?: never;
}

/** One fact of a record: its value, and its name in each place that shows it. */
export type RecordField<T> = SingleField<T> | RowsField<T>;

/** A value of a stored record. */
export type StoredValue = string | number | boolean | null | undefined | object;
