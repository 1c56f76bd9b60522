import type { VertexEntry as VertexSettings } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';

/**
 * Betas that Claude accepts on Vertex AI. There an unknown one is a 400 ("Unexpected value(s) … for the `anthropic-beta` header",
 * docs/protocols/vertex-ai.md#claude-betas), and clients such as Claude Code send every new one: so only these are let through. They are
 * those that clients use there successfully, without those for features that Vertex AI does not have (files, skills, MCP, fast mode,
 * docs/protocols/vertex-ai.md#claude-features-not-served) or refuses by name (structured outputs, effort, caching scope).
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

/** Either list is the whole rule: what `allow` leaves out is not sent, what `deny` leaves out is. */
export function betaFilter({ allow, deny }: NonNullable<VertexSettings['anthropic_betas']> = {}): (
  name: string,
) => boolean {
  if (deny) {
    const denied = new Set(deny);
    return (name) => !denied.has(name);
  }
  const allowed = new Set(allow ?? SERVED);
  return (name) => allowed.has(name);
}

/** A `*` is a letter like any other in the name of a header's value, and no beta has one. */
export function checkBetas(betas: VertexSettings['anthropic_betas'], report: Report): void {
  for (const [list, names] of Object.entries(betas ?? {})) {
    const index = names.findIndex((name) => name.includes('*'));
    const message = 'names are compared whole, and `*` stands for nothing here; `deny: []` sends every beta';
    if (index >= 0) report({ path: ['anthropic_betas', list, index], severity: 'warning', message });
  }
}
