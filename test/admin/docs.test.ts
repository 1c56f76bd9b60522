import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { fences } from '../docs/pages.ts';
import { PAGE, withTables } from './docs-table.ts';
import { startAdmin } from './kit.ts';

const run = promisify(execFile);
const page = readFileSync(PAGE, 'utf8');

describe('docs/operate/admin-api.md', () => {
  it('has the tables of the calls and errors as the code has them', () => {
    expect(withTables(page)).toBe(page);
  });

  // More than ten processes, one after the other.
  it('has lines that work as they stand, one after the other', { timeout: 600_000 }, async () => {
    // A budget in USD refuses models without a price.
    const admin = await startAdmin({ teams: { teams: { search: {} } } });
    const bin = mkdtempSync(join(tmpdir(), 'gatehouse-bin-'));
    try {
      writeFileSync(
        join(bin, 'gatehouse'),
        `#!/bin/sh\nexec "${process.execPath}" "${packageFile('src/cli/main.ts')}" "$@"\n`,
      );
      chmodSync(join(bin, 'gatehouse'), 0o755);
      const { url } = admin.gateway.admin!;
      const env: NodeJS.ProcessEnv = {
        ...process.env,
        PATH: `${bin}:${process.env['PATH']}`,
        GATEHOUSE_ADMIN_URL: url,
      };
      const lines = fences(page, 'sh').flatMap((code) => code.trim().split('\n'));
      const answers: string[] = [];
      for (const line of lines.filter((one) => !one.startsWith('export '))) {
        const here = line.replace('http://127.0.0.1:8788', url).replace('/var/lib/gatehouse/state', admin.folder);
        const { stdout } = await run('bash', ['-c', here.replace(/^npx /, '').replace(/^curl/, 'curl -sS --fail')], {
          env,
        });
        env['GATEHOUSE_ADMIN_TOKEN'] ??= (JSON.parse(stdout) as { token: string }).token;
        answers.push(stdout);
      }
      const [token, team, key, budgets, adjusted, usage, csv, ...commands] = answers;
      expect(JSON.parse(token!)).toMatchObject({ object: { id: 'ann', role: 'admin' } });
      expect(JSON.parse(team!)).toMatchObject({ id: 'research', owner: 'store' });
      expect(JSON.parse(key!)).toMatchObject({
        key: expect.stringMatching(/^gatehouse_/),
        object: { state: 'active' },
      });
      expect(JSON.parse(budgets!)).toMatchObject({
        items: [{ id: 'team:research:month:usd', cap: 500_000_000_000, spent: 0 }],
      });
      expect(JSON.parse(adjusted!)).toMatchObject({ spent: -20_000_000_000 });
      expect([JSON.parse(usage!), csv]).toEqual([
        { items: [] },
        expect.stringMatching(/^start,team,requests,.*,cost_usd,saturated\r\n$/),
      ]);
      const ofConsole = commands.splice(7);
      expect(commands.length).toBe(7);
      const [session, stats, places, names, validated, effect, tests, providers, tested, draft, played] = ofConsole;
      expect(JSON.parse(session!)).toMatchObject({ role: 'admin', features: { store: true } });
      expect(JSON.parse(stats!).points).toBeGreaterThanOrEqual(360);
      expect(JSON.parse(places!).config).toBe('default');
      expect(JSON.parse(names!)).toMatchObject({ slugs: ['sim'], configs: ['default'] });
      expect(JSON.parse(validated!).diagnostics).toEqual([]);
      expect(effect).toMatch(/event: progress\n[\s\S]*event: done\ndata: \{"same":0,/);
      expect(tests).toMatch(/event: done\ndata: \{"passed":0,"failed":0,"problems":\["there are no tests/);
      expect(JSON.parse(providers!)).toMatchObject({ items: [{ slug: 'sim' }] });
      expect(tested).toMatch(/event: step\n[\s\S]*event: done\n/);
      expect(JSON.parse(draft!).patch).toContain('+  - slug: claude\n');
      expect(played).toContain('"choices"');
      expect(commands[3]).toMatch(/^ID .*\nteam:interns:month:usd +team:interns +50 USD/);
      expect(commands[6]).toMatch(/keys\.rotate/);
    } finally {
      await admin.close();
      rmSync(bin, { recursive: true });
    }
  });
});
