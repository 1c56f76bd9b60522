import type { Agent } from './agent.ts';
import { claude, codex, gemini, opencode } from './coding-agents.ts';
import { SDKS } from './sdks.ts';

/** The rows of the table in docs/agents. */
export const AGENTS: readonly Agent[] = [codex, claude, gemini, opencode, ...SDKS];
