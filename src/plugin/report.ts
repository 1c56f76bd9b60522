/** Something wrong (or doubtful) in a settings file, told by whoever understands the value; the settings room adds line and column. */
export interface Problem {
  /** Path in the file: `['providers', 2, 'slug']`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Point at the key instead of the value. Default: the value. */
  readonly on?: 'key' | 'value';
  /** Default: error. */
  readonly severity?: 'error' | 'warning';
  /** Nearest thing that would have been right. */
  readonly suggestion?: string;
}
export type Report = (problem: Problem) => void;
