import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { isLimit, limitOf, type Agent } from './agent.ts';
import { AGENTS } from './agents.ts';
import { applies, CASES } from './rows.ts';
import { DOCS, pages } from './pages.ts';
import { readResults, type Result } from './results.ts';
import { UPSTREAMS } from './upstreams.ts';

const lock = JSON.parse(readFileSync(join(import.meta.dirname, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { version: string; resolved?: string }>;
};

describe('docs/agents', () => {
  it('has the pages that the tables and the results make, and no others', () => {
    const written = pages();
    expect(readdirSync(DOCS).toSorted()).toEqual([...written.keys()].toSorted());
    for (const [name, text] of written) expect(readFileSync(join(DOCS, name), 'utf8'), name).toBe(text);
  });

  it('never shows a cell without a result as passed', () => {
    const written = pages([]);
    for (const [name, text] of written) expect(text, name).not.toMatch(/✓|\d of \d/);
    expect(written.get('codex.md')).toContain('not run');
  });

  it('shows a case that does not apply as neither passed nor missing', () => {
    const cell = { agent: 'codex', version: '1', date: '2026-01-01', upstream: 'llama' };
    const [llama] = UPSTREAMS.filter(({ name }) => name === 'llama');
    const [codex] = AGENTS.filter(({ name }) => name === 'codex');
    const rows = CASES.filter((row) => llama && codex && applies(row, llama, codex));
    const written = pages(rows.map((row) => ({ ...cell, case: row.name })));
    expect(written.get('codex.md')).toMatch(/\| thinking \|.* – \|\n/);
    expect(written.get('README.md')).toMatch(new RegExp(`Codex.* ${rows.length} of ${rows.length} \\|`));
  });

  it('shows a fault as a limit of the agent only if it is the fault of that limit', () => {
    const cell = { agent: 'langchain-google', upstream: 'claude', case: 'cut', version: '1', date: '2026-01-01' };
    const page = (fault: string): string | undefined => pages([{ ...cell, fault }]).get('langchain-google.md');
    expect(page('ended with 0 and without a readable message')).toMatch(/\| a cut stream \|.*\| limit \|/);
    expect(page('did not end in time')).toMatch(/\| a cut stream \|.*\| fails \|/);
  });
});

/** The blocks of a page in a language. */
const blocks = (name: string, language: string): readonly string[] =>
  [...(pages().get(`${name}.md`) ?? '').matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  );

/** Runs the lines of a page before an SDK that notes what it is given. */
function paste(code: string, env: Readonly<Record<string, string>>): string {
  const given: unknown[] = [];
  const sdk: unknown = new Proxy(function sdk() {}, {
    get: () => sdk,
    apply: (_, __, args) => (given.push(...args), sdk),
    construct: (_, args) => (given.push(...args), {}),
  });
  const lines = code.replaceAll(/^import (\{.*\}) from '.*';$/gm, 'const $1 = sdk;');
  // What the lines declare for later calls.
  const declared = ['options', 'model'].map((name) => `typeof ${name} === 'undefined' ? '' : ${name}`);
  const later: unknown = runInNewContext(`${lines}\n[${declared.join(', ')}]`, { sdk, process: { env } });
  given.push(later);
  return JSON.stringify(given);
}

describe.each(AGENTS.flatMap((agent) => ('path' in agent.lines ? [[agent.name, agent] as const] : [])))(
  'the lines for %s',
  (name, agent: Agent) => {
    it('run as they stand, and give the SDK the gateway, the key and the model', () => {
      const env = { GATEHOUSE_URL: 'http://gateway.example', GATEHOUSE_API_KEY: 'the-key', MODEL: 'the-model' };
      const [code = ''] = blocks(name, 'js');
      const exported = blocks(name, 'sh').join('');
      expect(code).toContain(` from '${agent.package}';`);
      const given = paste(code, env) + exported;
      expect(given).toMatch(/http:\/\/(?:gateway\.example|127\.0\.0\.1:8787)/);
      expect(given).toMatch(/the-key|\$GATEHOUSE_API_KEY/);
      expect(given).toContain('the-model');
    });
  },
);

describe('results.json', () => {
  const agentOf = (result: Result): Agent | undefined => AGENTS.find(({ name }) => name === result.agent);

  it('has cells of the tables alone, of agents in their pinned versions', () => {
    for (const result of readResults()) {
      const agent = agentOf(result);
      expect(agent, result.agent).toBeDefined();
      const row = CASES.find(({ name }) => name === result.case);
      const kind = UPSTREAMS.find(({ name }) => name === result.upstream);
      expect(row && kind && agent && applies(row, kind, agent), JSON.stringify(result)).toBe(true);
      expect(result.version).toBe(lock.packages[`node_modules/${agent?.package}`]?.version);
    }
  });

  it('has the faults that are limits of their agents, and no others', () => {
    const unexplained = readResults().filter((result) => {
      const agent = agentOf(result);
      const limit = agent && limitOf(agent, result);
      return result.fault === undefined ? limit !== undefined : !isLimit(limit, result.fault);
    });
    expect(unexplained).toEqual([]);
  });
});

describe('the limits', () => {
  it('are of cases and upstreams of the tables', () => {
    for (const { limits } of AGENTS)
      for (const limit of limits) {
        expect(CASES.map(({ name }) => name)).toContain(limit.case);
        expect(UPSTREAMS.map(({ name }) => name)).toEqual(expect.arrayContaining([...(limit.upstreams ?? [])]));
      }
  });
});

describe('the lockfile', () => {
  it('names no registry', () => {
    for (const [name, { resolved }] of Object.entries(lock.packages)) expect(resolved, name).toBeUndefined();
  });
});
