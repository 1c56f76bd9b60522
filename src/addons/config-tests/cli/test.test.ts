import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commands } from '../../../cli/commands.ts';
import { UsageError } from '../../../core/commands/terminal/arguments.ts';
import { keepOutput, TestFolder } from '../../../core/commands/folder.testkit.ts';

let folder: TestFolder;
beforeEach(() => {
  folder = new TestFolder();
  folder.write(
    'catalog.yaml',
    'providers:\n  - { slug: claude, provider: anthropic, api_key: "${env:NO_SUCH_KEY}" }\n',
  );
  folder.write('keys.yaml', 'keys: []\n');
  folder.write(
    'gateway/prod.yaml',
    'provider: "@claude"\noverride_params: { model: claude-sonnet-4-5, max_tokens: 512 }\n',
  );
});
afterEach(() => folder.remove());

const cases = (...expected: readonly string[]): string =>
  `cases:\n${expected
    .map(
      (expect, index) => `  - name: case ${index}
    request: { body: { model: any, messages: [{ role: user, content: Hi }] } }
    upstream: [{ answer: Hello }]
    expect: ${expect}
`,
    )
    .join('')}`;
const GOOD = '{ target: "@claude", outbound: { url: "https://api.anthropic.com/*", body: { max_tokens: 512 } } }';
const BAD = '{ outbound: { body: { max_tokens: 1024 } } }';

const writeTests = (text: string): void => void folder.write('gateway/prod.test.yaml', text);

async function run(name: string, args: readonly string[], columns?: number) {
  const { printed, ...output } = keepOutput();
  const terminal = columns === undefined ? undefined : { columns };
  const world = {
    ...output,
    env: { NO_SUCH_KEY: 'sk-canary-0123456789' },
    terminal,
    input: () => Promise.resolve(Buffer.alloc(0)),
  };
  const code = await commands.get(name)!.run([...args], world);
  const short = (text: string): string => text.replaceAll(folder.path, 'DIR');
  return { code, out: short(printed.out), err: short(printed.err) };
}

const runTests = (...args: readonly string[]) => run('test', [folder.path, ...args]);

describe('gatehouse test', () => {
  test('exits with 0 if all cases pass', async () => {
    writeTests(cases(GOOD, '{ status: 200 }'));
    const { code, out, err } = await runTests();
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^DIR\/gateway\/prod\.test\.yaml\n {2}✓ case 0\n {2}✓ case 1\n\n2 passed \(.+\)\n$/);
  });

  test('exits with 1 if one fails, and shows the difference at its place', async () => {
    writeTests(cases(GOOD, BAD));
    const { code, out } = await runTests();
    expect(code).toBe(1);
    expect(out).toContain(`  ✗ case 1
      DIR/gateway/prod.test.yaml:9:47: outbound.body.max_tokens
        expected 1024
        got      512
`);
  });

  test('exits with 2 if there is nothing to run', async () => {
    expect(await runTests()).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('there are no tests in DIR'),
    });
    writeTests(cases(GOOD));
    expect(await runTests('--filter', 'Gemini')).toMatchObject({ code: 2, err: expect.stringContaining('"Gemini"') });
    folder.remove();
    expect(await runTests()).toMatchObject({ code: 2, err: 'gatehouse: there is no folder DIR\n' });
  });

  test.each([[['--reporter', 'xml']], [['--watch']], [['more']], [['--fitler', 'a']]])(
    'refuses the arguments %j',
    async (args) => {
      await expect(runTests(...args)).rejects.toThrow(UsageError);
    },
  );

  test('exits with 1 on errors in the tests or settings, which it reports instead of running', async () => {
    writeTests(cases(GOOD).replace('expect', 'expcet'));
    expect(await runTests('--reporter', 'github')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^::error file=DIR\/gateway\/prod\.test\.yaml,line=5,col=5::unknown key `expcet`/),
    });
    // A missing plugin is detected when the settings are compiled.
    writeTests(cases(GOOD));
    folder.write('gateway/other.yaml', 'plugins: [no-such-plugin]\n');
    expect(await runTests()).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^DIR\/gateway\/other\.yaml:1:11: .*no-such-plugin/),
    });
  });

  test('writes a report for a CI server, and stops at the first failure with --bail', async () => {
    writeTests(cases(BAD, GOOD));
    const { code, out } = await runTests('--reporter', 'junit', '--bail');
    expect(code).toBe(1);
    expect(out).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites [^>]*tests="1" failures="1"/);
    expect(out).not.toContain('case 1');
  });

  test('uses colours only on a terminal', async () => {
    writeTests(cases(GOOD));
    expect((await run('test', [folder.path], 80)).out).toContain('\u001B[32m✓');
    expect((await runTests()).out).not.toContain('\u001B');
  });

  test('shows no secret', async () => {
    writeTests(cases('{ outbound: { headers: { x-api-key: none } } }'));
    const { out } = await runTests();
    expect(out).toContain('got      "[secret]"');
    expect(out).not.toContain('canary');
  });
});

test('gatehouse validate also checks the tests', async () => {
  writeTests(cases(GOOD.replace('@claude', '@cluade')));
  const { code, out } = await run('validate', ['--configs', folder.path]);
  expect(code).toBe(1);
  expect(out).toContain('DIR/gateway/prod.test.yaml:5:23: there is no catalog entry @cluade; did you mean "@claude"?');
});
