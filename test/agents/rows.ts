import type { Agent } from './agent.ts';
import { COMMON_CASES, type Case } from './cases.ts';
import { CODEX_NAMES } from './codex-names.ts';
import { OPENCODE_SDKS } from './opencode-sdks.ts';
import { IMAGE_CASES } from './image-cases.ts';
import { RESUMED_CASES } from './resumed-cases.ts';
import type { UpstreamKind } from './upstreams.ts';

/** The rows of the tables, and the cells that they have. */
export const CASES: readonly Case[] = [
  ...COMMON_CASES,
  ...IMAGE_CASES,
  ...RESUMED_CASES,
  ...CODEX_NAMES,
  ...OPENCODE_SDKS,
];

/** A model that does not think has no case of thinking, an agent without a tool for images none of one, and some agents have cases of their own. */
export function applies(
  row: Case,
  { name, thoughts }: UpstreamKind,
  agent: Pick<Agent, 'name' | 'tools' | 'resumes'>,
): boolean {
  if (row.only) return row.only.agent === agent.name && (row.only.upstream ?? name) === name;
  if (row.thinking && thoughts === 'none') return false;
  if (row.nextPrompt !== undefined && !agent.resumes) return false;
  return row.image !== 'read' || agent.tools('').view !== undefined;
}
