/** Each kind has a folder in `kinds/` with its files; `kinds/all` has those that are the same for all. */
export const KINDS = ['middleware', 'text', 'guard', 'auth', 'cache', 'exporter'] as const;
export type Kind = (typeof KINDS)[number];

/** The example in `docs/plugins/examples` whose code and test a kind begins with. Default: those in its folder. */
export const EXAMPLES: Readonly<Partial<Record<Kind, string>>> = { cache: 'own-cache', exporter: 'export' };
