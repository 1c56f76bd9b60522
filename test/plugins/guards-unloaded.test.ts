import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';

const run = promisify(execFile);

/** Prints the address of each module when the process ends. */
const LISTING = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
  process.on('exit', () => process.stderr.write('\\n' + JSON.stringify(loaded) + '\\n'));
`;

it('Settings without guards serve a request without the code that runs them', async () => {
  const hook = `--import=data:text/javascript,${encodeURIComponent(LISTING)}`;
  const { stdout, stderr } = await run(process.execPath, [hook, packageFile('test/core/serve-once.ts')], {
    cwd: packageFile(''),
  });
  expect(JSON.parse(stdout)).toMatchObject({ status: 200, text: 'Hello.' });
  const loaded = JSON.parse(stderr.split('\n').findLast((line) => line.startsWith('["')) ?? '[]') as readonly string[];
  const ofGuards = loaded.flatMap((url) => url.split('/src/addons/guards/')[1] ?? []);
  // What the add-on adds to tables, and the checks of settings.
  expect(ofGuards).toEqual(expect.arrayContaining(['index.ts', 'parts.ts', 'settings/check-guards.ts']));
  expect(
    ofGuards.filter((file) => !/^(?:index|parts|metrics)\.ts$|^(?:plugins|portkey|settings)\//.test(file)),
  ).toEqual([]);
  expect(loaded.filter((url) => /\/node_modules\/(?:jose|libphonenumber-js)\//.test(url))).toEqual([]);
}, 120_000);
