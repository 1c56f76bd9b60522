import { nearest } from '../../plugin/index.ts';
import type { Output } from '../output.ts';
import { AGENT_CONFIGS, type AgentConfig, type ConfigFile, type Place } from './agents.ts';

/** `gatehouse agent-config`. Exit code 2: unknown agent. */
export function agentConfigCommand(name: string, place: Place, { out, err }: Output): 0 | 2 {
  const found = AGENT_CONFIGS.find((agent) => agent.name === name);
  if (found) {
    out(pastedText(found, place));
    return 0;
  }
  const names = AGENT_CONFIGS.map((agent) => agent.name);
  const suggestion = nearest(name, names);
  const hint = suggestion === undefined ? `give ${names.join(', ')}` : `did you mean "${suggestion}"?`;
  err(`gatehouse: there is no agent ${JSON.stringify(name)}; ${hint}\n`);
  return 2;
}

/** Lines for a shell: files, variables, then the command. */
export function pastedText(agent: AgentConfig, place: Place): string {
  const variables = Object.entries(agent.env(place)).map(([name, value]) => exportLine(name, value));
  return `${agent.files(place).map(fileText).join('')}${variables.join('')}${agent.command}\n`;
}

/** A file that is there is not overwritten: `noclobber` makes the shell refuse. */
const fileText = ({ path, text }: ConfigFile): string =>
  `mkdir -p ~/${path.replace(/\/[^/]+$/, '')}\n(set -C; cat > ~/${path} <<'EOF'\n${text}EOF\n)\n`;

export const exportLine = (name: string, value: string): string => `export ${name}=${quoted(value)}\n`;

/** A variable stays one; all else is literal. */
const quoted = (value: string): string =>
  /^\$\w+$/.test(value) ? `"${value}"` : /^[\w.:/@-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
