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
