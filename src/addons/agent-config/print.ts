import { nearest } from '../../core/kernel/index.ts';
import type { World } from '../../core/commands/terminal/arguments.ts';
import { askGateway, type KeyRefused } from './ask-gateway.ts';
import { AGENT_CONFIGS, type AgentConfig, type ConfigFile, type AgentGateway } from './agents.ts';
import { shellWord } from '../../core/commands/terminal/output.ts';

/** `model` is absent: the lines have a word in its place. */
interface AgentConfigCall extends Pick<AgentGateway, 'url' | 'keyEnv'> {
  readonly model: string | undefined;
}

/** `gatehouse agent-config`. Exit code 1: the gateway does not have the model; 2: unknown agent. */
export async function agentConfigCommand(
  name: string,
  { url, keyEnv, model }: AgentConfigCall,
  { out, err, env }: Pick<World, 'out' | 'err' | 'env'>,
): Promise<0 | 1 | 2> {
  const found = AGENT_CONFIGS.find((agent) => agent.name === name);
  if (!found) {
    err(`gatehouse: there is no agent ${JSON.stringify(name)}; ${hintOf(name)}\n`);
    return 2;
  }
  const key = env[keyEnv];
  const asked = await askGateway({ url, key, model });
  if (asked.kind === 'unknown') {
    err(`gatehouse: the gateway at ${url} has no model ${JSON.stringify(model)} for this key; ${asked.hint}\n`);
    return 1;
  }
  if (asked.kind === 'unavailable') err(`gatehouse: ${asked.reason}: ${NO_LIMITS}\n`);
  if (asked.kind === 'refused') err(`gatehouse: ${refusalText(asked, { url, keyEnv, key })}; ${NO_LIMITS}\n`);
  const facts = asked.kind === 'known' ? { facts: asked.facts } : {};
  out(pastedText(found, { url, keyEnv, model: model ?? PLACEHOLDER, ...facts }));
  return 0;
}

const PLACEHOLDER = 'MODEL';

const NO_LIMITS = 'the lines have no limits of the model';

interface Asked extends Pick<AgentConfigCall, 'url' | 'keyEnv'> {
  readonly key: string | undefined;
}

function refusalText({ status, message }: KeyRefused, { url, keyEnv, key }: Asked): string {
  const refused = `the gateway at ${url} refused ${key === undefined ? 'a request without a key' : `the key in $${keyEnv}`}`;
  const cure = key === undefined ? `; put the gateway key into $${keyEnv}` : '';
  // Quoted: the text of a stranger's server may hold control characters.
  return `${refused} (HTTP ${status}${message === undefined ? '' : `: ${JSON.stringify(message)}`})${cure}`;
}

function hintOf(name: string): string {
  const names = AGENT_CONFIGS.map((agent) => agent.name);
  const suggestion = nearest(name, names);
  return suggestion === undefined ? `give ${names.join(', ')}` : `did you mean "${suggestion}"?`;
}

/** Lines for a shell: files, variables, then the command. */
export function pastedText(agent: AgentConfig, place: AgentGateway): string {
  const variables = Object.entries(agent.env(place)).map(([name, value]) => exportLine(name, value));
  return `${agent.files(place).map(fileText).join('')}${variables.join('')}${agent.command}\n`;
}

/** A file that is there is not overwritten: `noclobber` makes the shell refuse. */
const fileText = ({ path, text }: ConfigFile): string =>
  `mkdir -p ~/${path.replace(/\/[^/]+$/, '')}\n(set -C; cat > ~/${path} <<'EOF'\n${text}EOF\n)\n`;

export const exportLine = (name: string, value: string): string => `export ${name}=${quoted(value)}\n`;

/** A variable stays one; all else is literal. */
const quoted = (value: string): string => (/^\$\w+$/.test(value) ? `"${value}"` : shellWord(value));
