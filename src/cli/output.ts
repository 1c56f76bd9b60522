/** Where a command writes: results to the one, complaints to the other. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}
