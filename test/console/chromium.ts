import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];

/** Debian's Chromium. Undefined: there is none, and the tests are skipped. */
export const executable = PATHS.find((path) => existsSync(path));

if (executable === undefined && process.env['GATEHOUSE_BROWSER'] === 'required')
  throw new Error('GATEHOUSE_BROWSER=required, and there is no Chromium: apt-get install chromium');
if (executable === undefined) console.warn('The browser tests are skipped: apt-get install chromium');

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: executable!, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
