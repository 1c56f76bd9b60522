// Writes the pictures of docs/operate/console.md. They differ from machine to machine, so only the full run asks for them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { executable, openBrowser } from './chromium.ts';
import { drawPictures } from './draw.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'docs/console');

if (process.env['TEST_FULL'] !== '1') console.log('The pictures of the console stay: TEST_FULL=1 writes them.');
else if (executable !== undefined) {
  execFileSync(process.execPath, [join(root, 'build/console.ts')], { cwd: root });
  const browser = await openBrowser();
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, picture] of Object.entries(await drawPictures(browser)))
      writeFileSync(join(folder, name), picture);
  } finally {
    await browser.close();
  }
}
