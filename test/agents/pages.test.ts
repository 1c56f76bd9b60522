import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGENTS } from './agents.ts';
import { CASES } from './cases.ts';
import { DOCS, pages } from './pages.ts';
import { readResults } from './results.ts';
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
});

describe('results.json', () => {
  it('has cells of the tables alone, of agents in their pinned versions', () => {
    for (const result of readResults()) {
      const agent = AGENTS.find(({ name }) => name === result.agent);
      expect(agent, result.agent).toBeDefined();
      expect(
        CASES.some(({ name }) => name === result.case),
        result.case,
      ).toBe(true);
      expect(
        UPSTREAMS.some(({ name }) => name === result.upstream),
        result.upstream,
      ).toBe(true);
      expect(result.version).toBe(lock.packages[`node_modules/${agent?.package}`]?.version);
    }
  });
});

describe('the agents', () => {
  it('come from a lockfile that names no registry', () => {
    for (const [name, { resolved }] of Object.entries(lock.packages)) expect(resolved, name).toBeUndefined();
  });

  it('that are SDKs have a script with the lines of their page', () => {
    for (const { sdk } of AGENTS)
      if (sdk) expect(existsSync(join(import.meta.dirname, sdk.script)) && sdk.script).toMatch(/^sdk\//);
    for (const { name, sdk } of AGENTS) if (sdk) expect(pages().get(`${name}.md`)).toMatch(/```js\n[^`]/);
  });
});
