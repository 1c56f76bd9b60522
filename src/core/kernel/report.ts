/** An error or warning about a settings file. The settings room adds line and column. */
export interface Problem {
  /** Path in the file: `['providers', 2, 'slug']`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Point at the key instead of the value. Default: the value. */
  readonly on?: 'key' | 'value';
  /** Point at the nth occurrence (from 0) of a text inside the value. */
  readonly at?: { readonly text: string; readonly nth: number };
  /** Default: error. */
  readonly severity?: 'error' | 'warning';
  /** The closest valid value. */
  readonly suggestion?: string;
}
export type Report = (problem: Problem) => void;

/** Keys from the top of a file of the settings. */
export interface ListPlace {
  readonly file: string;
  readonly path: readonly (string | number)[];
}

/** The place of an item in the settings. */
export interface Placed {
  /** Keys from the list: `['add', 0]`. Empty for an item that another list has. */
  readonly at: readonly (string | number)[];
  /** The place in another list, from which this one has the item. */
  readonly from?: ListPlace | undefined;
  /** The list does not name the item, which `always: true` at `from` keeps. */
  readonly kept?: boolean | undefined;
  /** Where `options` of a list of changes are for this item. */
  readonly options?: ListPlace | undefined;
}
