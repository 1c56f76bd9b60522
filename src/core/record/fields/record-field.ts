import type { AttributeValue } from '@opentelemetry/api';

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
interface ShownAs {
  readonly line?: string;
  /** In the admin listener's records. */
  readonly record?: string;
}

type Name<T> = Extract<keyof T, string>;
type NamesOf<T, V> = { [K in Name<T>]: T[K] extends V | undefined ? K : never }[Name<T>];

/**
 * The property that has the value, or an arrow function that derives it. Undefined: the value is absent. The generator writes the
 * function's expression in place, so it may name its parameter, and what its module exports or imports.
 */
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

/** Fields of objects within `T`; see `rows`, `group` and `part`. */
interface NestedField<T> extends ShownAs {
  readonly as: 'rows' | 'group' | 'part';
  readonly fields: readonly AnyField[];
  readonly value: (of: T) => unknown;
  readonly span?: never;
}

/** One fact of a record: its value, and its name in each place that shows it. */
export type RecordField<T> = SingleField<T> | NestedField<T>;

/** A row of any table, as the generator reads it. */
export interface AnyField extends ShownAs {
  readonly as: keyof Notations | NestedField<never>['as'];
  readonly value: string | ((of: never) => unknown);
  readonly fields?: readonly AnyField[];
  readonly orNull?: true;
  readonly span?: string;
}

/** A list of objects with fields of their own: `"tries":[{"status":429},{"status":200}]`. The line has no empty list. */
export const rows = <T, I>(
  names: ShownAs,
  fields: readonly RecordField<I>[],
  value: (of: T) => readonly I[],
): RecordField<T> => ({ as: 'rows', ...names, fields, value });

/** One object with fields of its own, or absent: `"prompt":{"id":"greeting"}`. */
export const group = <T, I>(
  names: ShownAs,
  fields: readonly RecordField<I>[],
  value: (of: T) => I | undefined,
): RecordField<T> => ({ as: 'group', ...names, fields, value });

/** Fields of an object that stand among those of `T`, and are absent without it. Two parts with the same `value` look it up once. */
export const part = <T, I>(value: (of: T) => I | undefined, fields: readonly RecordField<I>[]): RecordField<T> => ({
  as: 'part',
  fields,
  value,
});
