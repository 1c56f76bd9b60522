export const KINDS = ['middleware', 'text', 'guard', 'auth', 'cache', 'exporter'] as const;
export type Kind = (typeof KINDS)[number];

/**
 * The texts of a new plugin, with `NAME` for its name and `EXT` for the ending of its modules. All of them are JavaScript; a
 * comment that begins with a colon has what TypeScript needs more.
 */
export interface KindTexts {
  /** A sentence: `It sets a header on every reply.` */
  readonly does: string;
  /** The plugin: `index.EXT`. */
  readonly code: string;
  /** The second test of `index.test.EXT`, and the names of the test kit that it uses. */
  readonly test: string;
  readonly uses: readonly string[];
  /** `chains` of its server.yaml. */
  readonly chains: string;
  /** The cases of its config. */
  readonly cases: string;
  /** The options to check it with. Default: none. */
  readonly options?: string;
  /** The callers of its settings come from the plugin, not from keys. */
  readonly hasCallers?: true;
}
