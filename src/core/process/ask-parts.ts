export interface PartAnswer {
  /** Undefined: the process itself. */
  readonly worker?: number;
  readonly answer: unknown;
}

/** Asks the parts of all processes that serve, or of one of them: `asked` of ProcessPart. Those that do not answer are left out. */
export type AskParts = (topic: string, question: unknown, of: 'all' | 'one') => Promise<readonly PartAnswer[]>;
