import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import fc from 'fast-check';
import { SEEDED_LEAKS } from './seeded-leaks.ts';

// Runs a property on the code with one seeded leak: `node run-seeded-leak.ts INDEX`. A module hook changes the source while Node
// loads it; no file is written. Prints what the property found.

const seeded = SEEDED_LEAKS[Number(process.argv[2])]!;
const url = pathToFileURL(join(import.meta.dirname, '../..', seeded.file)).href;
let applied = 0;

registerHooks({
  load(loading, context, nextLoad) {
    const loaded = nextLoad(loading, context);
    if (loading !== url) return loaded;
    const parts = String(loaded.source).split(seeded.from);
    applied = parts.length - 1;
    return { ...loaded, source: parts.join(seeded.to) };
  },
});

const { leakingSettingsAreRefused, nothingLeaks } = await import('./leaks.ts');
const options = { seed: 20_261_122, numRuns: 200, endOnFailure: true };
const found =
  seeded.caughtBy === 'requests'
    ? await fc.check(nothingLeaks(new Map()), options)
    : await fc.check(leakingSettingsAreRefused(new Map()), options);
const { errorInstance: error } = found;
process.stdout.write(
  JSON.stringify({ applied, runs: found.numRuns, found: error instanceof Error ? error.message : undefined }),
);
