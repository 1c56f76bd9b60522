/** Each kind has a folder in `kinds/` with its files; `kinds/all` has those that are the same for all. */
export const KINDS = ['middleware', 'text', 'guard', 'auth', 'cache', 'exporter'] as const;
export type Kind = (typeof KINDS)[number];
