import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isFull } from '../support/effort.ts';
import { executable, openBrowser } from './chromium.ts';
import { drawPictures, MOST_BYTES } from './draw.ts';

const docs = join(import.meta.dirname, '../../docs');
const kept = globSync('*.png', { cwd: join(docs, 'console') }).toSorted();

describe('the pictures of the console', () => {
  it('are small, and each is on its page', () => {
    const page = readFileSync(join(docs, 'operate/console.md'), 'utf8');
    expect(kept.filter((name) => !page.includes(`(../console/${name})`))).toEqual([]);
    const bytes = kept.map((name) => statSync(join(docs, 'console', name)).size);
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(MOST_BYTES);
  });

  it.skipIf(executable === undefined || !isFull('console'))('are those that the page draws', async () => {
    const browser = await openBrowser();
    try {
      const drawn = await drawPictures(browser);
      expect(Object.keys(drawn).toSorted()).toEqual(kept);
      for (const [name, picture] of Object.entries(drawn)) {
        const written = readFileSync(join(docs, 'console', name));
        // Bytes 16 to 24 of a PNG are its width and height. Fonts differ among machines, what is drawn does not.
        expect(picture.subarray(16, 20)).toEqual(written.subarray(16, 20));
        expect(picture.length / written.length).toBeGreaterThan(0.5);
        expect(picture.length / written.length).toBeLessThan(2);
      }
    } finally {
      await browser.close();
    }
  });
});
