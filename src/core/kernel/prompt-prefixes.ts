/** Keyed hashes by which a prompt is compared with those before it, such as to say why a provider's cache had nothing of it. No text can be made of them. */
export interface PromptPrefixes {
  /** Names the key of the hashes: only those of one key can be compared. */
  readonly by: string;
  /** Bytes of the tools, and of the system prompt behind them, as the client wrote them; the messages follow. */
  readonly tools: number;
  readonly system: number;
  /** The hash of tools and system prompt with the keys of all objects sorted. */
  readonly sorted: string;
  /** A length in bytes and the hash of so much of the prompt, the shortest first: at most 7. */
  readonly prefixes: readonly (readonly [length: number, hash: string])[];
}
