import type { VertexEntry as VertexSettings } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';

/**
 * Betas that Claude accepts on Vertex AI, where clients use them successfully. An unknown one is answered with a 400
 * (docs/protocols/vertex-ai.md#claude-betas), and clients such as Claude Code send every new one. Features that Vertex
 * AI does not have (docs/protocols/vertex-ai.md#claude-features-not-served) or refuses by name are left out.
 */
const SERVED: readonly string[] = [
  'claude-code-20250219',
  'compact-2026-01-12',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'interleaved-thinking-2025-05-14',
  'tool-search-tool-2025-10-19',
  'web-search-2025-03-05',
];

/** Betas that Vertex AI takes under another name (docs/protocols/vertex-ai.md#claude-betas). */
export const BETA_NAMES: ReadonlyMap<string, string> = new Map([
  ['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19'],
]);

/** Betas that a token count answers with a 400, where the model takes them in a request (docs/protocols/vertex-ai.md#claude-token-count). */
const REFUSED_BY_COUNTS: ReadonlySet<string> = new Set(['tool-search-tool-2025-10-19', 'web-search-2025-03-05']);

type BetaFilter = (name: string) => boolean;

/** Each list is complete by itself: only names in `allow` are sent, or all names that are not in `deny`. */
export function betaFilter(
  { allow, deny }: NonNullable<VertexSettings['anthropic_betas']> = {},
  served: readonly string[] = SERVED,
): BetaFilter {
  if (deny) {
    const denied = new Set(deny);
    return (name) => !denied.has(name);
  }
  const allowed = new Set(allow ?? served);
  return (name) => allowed.has(name);
}

/** A count gets no beta unless the entry lists some: its models refuse different ones, and none changes the count. */
export function countedBetas(lists: VertexSettings['anthropic_betas']): BetaFilter {
  const takes = betaFilter(lists, []);
  return (name) => !REFUSED_BY_COUNTS.has(name) && takes(name);
}

/** Warns of `*` in a name: it is compared literally, and no beta contains one. */
export function checkBetas(betas: VertexSettings['anthropic_betas'], report: Report): void {
  for (const [list, names] of Object.entries(betas ?? {})) {
    const index = names.findIndex((name) => name.includes('*'));
    const message = 'names are compared exactly, and `*` is not a pattern here; `deny: []` sends every beta';
    if (index >= 0) report({ path: ['anthropic_betas', list, index], severity: 'warning', message });
  }
}
