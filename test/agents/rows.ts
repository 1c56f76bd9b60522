import type { Agent } from './agent.ts';
import { COMMON_CASES, type Case } from './cases.ts';
import { CODEX_NAMES } from './codex-names.ts';
import { OPENCODE_SDKS } from './opencode-sdks.ts';
import type { UpstreamKind } from './upstreams.ts';

/** The rows of the tables, and the cells that they have. */
export const CASES: readonly Case[] = [...COMMON_CASES, ...CODEX_NAMES, ...OPENCODE_SDKS];

/** A model that does not think has no case of thinking, and some agents have cases of their own. */
export const applies = (row: Case, { name, thoughts }: UpstreamKind, agent: Pick<Agent, 'name'>): boolean =>
  row.only ? row.only.agent === agent.name && row.only.upstream === name : !(row.thinking && thoughts === 'none');
