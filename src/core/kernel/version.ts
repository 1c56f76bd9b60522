import { readFileSync } from 'node:fs';
import { packageFile } from './package-root.ts';

let known: { version: string; revision: string } | undefined;

/** Version of the package, and the revision it was built from where the build says so. */
export function version(): { readonly version: string; readonly revision: string } {
  if (!known) {
    const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
      version: string;
      gitHead?: string;
    };
    known = { version: manifest.version, revision: manifest.gitHead ?? '' };
  }
  return known;
}
