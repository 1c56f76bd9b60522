/** Where a command writes: results to the one, complaints to the other. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Where results are read, if that is a terminal. */
export interface Terminal {
  readonly columns: number;
}

/** How results are shown. */
export interface ShowOptions extends Output {
  readonly json: boolean;
  readonly colour: boolean;
  readonly terminal: Terminal | undefined;
}

/** Longer lines are hard to read on any screen. A file and a pipe have no width. */
export const pageFor = ({ terminal, colour }: ShowOptions): { readonly width: number; readonly colour: boolean } => ({
  width: Math.min(Math.max(terminal?.columns ?? 120, 60), 120),
  colour,
});
