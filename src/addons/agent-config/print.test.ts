import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentCommands } from './commands.ts';
import { AGENT_CONFIGS, type AgentConfig, type AgentGateway } from './agents.ts';
import { agentConfigCommand, pastedText } from './print.ts';

const place = {
  url: 'http://127.0.0.1:8787',
  keyEnv: 'TEAM_KEY',
  model: '@vertex/anthropic.claude-opus-5',
  facts: { context: 200_000, input: 128_000, output: 32_000, codexModels: [{ slug: 'it’s "gw"' }] },
} satisfies AgentGateway;

function pasteInShell({ command, ...agent }: AgentConfig, home: string): string {
  const text = pastedText({ ...agent, command: 'env' }, place);
  return execFileSync('sh', ['-c', text], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { HOME: home, TEAM_KEY: 'k-1', PATH: '/usr/bin:/bin' },
  }).toString();
}

function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'agent-config-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return home;
}

describe.each(AGENT_CONFIGS.map((agent) => [agent.name, agent] as const))('the lines for %s', (_, agent) => {
  it('write its files and set its variables when a shell runs them', () => {
    const home = temporaryHome();
    const environment = pasteInShell(agent, home).split('\n');
    for (const { path, text } of agent.files(place)) expect(readFileSync(join(home, path), 'utf8')).toBe(text);
    for (const [name, value] of Object.entries(agent.env(place)))
      expect(environment).toContain(`${name}=${value === '$TEAM_KEY' ? 'k-1' : value}`);
    expect(JSON.stringify([agent.files(place), agent.env(place)])).toContain('http://127.0.0.1:8787');
  });

  it('never overwrite a file, and never hold a key', () => {
    const home = temporaryHome();
    pasteInShell(agent, home);
    for (const { path } of agent.files(place)) writeFileSync(join(home, path), 'own');
    pasteInShell(agent, home);
    for (const { path } of agent.files(place)) expect(readFileSync(join(home, path), 'utf8')).toBe('own');
    expect(pastedText(agent, place)).toContain('TEAM_KEY');
  });
});

it.each([
  ['codx', 'did you mean "codex"?'],
  ['emacs', 'give codex, claude, gemini, opencode'],
])('an unknown agent %s is exit code 2', async (name, hint) => {
  const said: string[] = [];
  const world = { out: () => {}, err: (text: string) => void said.push(text), env: {} };
  expect(await agentConfigCommand(name, place, world)).toBe(2);
  expect(said.join('')).toContain(hint);
});

it('the help names the agents', () => {
  expect(agentCommands[0]![1].usage).toContain(` ${AGENT_CONFIGS.map(({ name }) => name).join('|')} `);
});
