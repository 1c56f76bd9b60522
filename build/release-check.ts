/**
 * `npm run release:check`: everything that must hold before the package is published. It packs the repository, installs the package
 * into empty folders and writes its bill of materials to the path of `--sbom`, if there is one. It is no test: it depends on the day
 * and asks the registry.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkManifest, checkOrigin, type Manifest } from './release/manifest.ts';
import { checkCommand, checkPacked, checkSize, checkTypes, install, pack } from './release/packed.ts';
import { checkPrices, type AcceptedPrices, type DatedTable } from './release/prices.ts';
import { npmBom, shippedBom, unlicensed } from './release/sbom.ts';

const root = join(import.meta.dirname, '..');
const { sbom } = parseArgs({ options: { sbom: { type: 'string' } } }).values;
const readJson = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8'));

const found: string[] = [];
function check(name: string, problems: readonly string[]): void {
  process.stdout.write(`${problems.length === 0 ? 'ok     ' : 'FAILED '} ${name}\n`);
  found.push(...problems);
}

const manifest = readJson('package.json') as Manifest;
const { version = '' } = manifest;
check('package.json', checkManifest(manifest));
const origin = checkOrigin(manifest, process.env['GITHUB_REPOSITORY']);
check('the repository of the provenance', origin.problems);
check(`CHANGELOG.md has ${version}`, changelog(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')));

const today = new Date().toISOString().slice(0, 10);
const table = readJson('data/models.json') as DatedTable;
const prices = checkPrices(table, readJson('data/accepted-prices.json') as AcceptedPrices, today);
check('prices whose day has come', prices.problems);
for (const note of [...origin.notes, ...prices.notes]) process.stdout.write(`note    ${note}\n`);

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-release-'));
try {
  const packed = pack(root, folder);
  const tarball = join(folder, packed.file);
  check(`files of the package (${Math.round(packed.size / 1024)} KiB packed)`, checkPacked(packed));
  const slim = install(tarball, join(folder, 'slim'), '--omit=optional');
  check(`size without optional packages (${slim.megabytes} MB)`, checkSize(slim));
  check('the command runs without optional packages', checkCommand(slim, version));
  const whole = install(tarball, join(folder, 'whole'));
  check('types of the plugin API', checkTypes(join(root, 'node_modules/.bin/tsc'), whole));
  const bom = shippedBom(npmBom(whole.folder), `${manifest.name}@${version}`);
  check(`licences of ${bom.components.length} packages`, unlicensed(bom));
  if (sbom !== undefined) writeFileSync(sbom, `${JSON.stringify(bom, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

for (const problem of found) process.stderr.write(`${problem}\n`);
if (found.length > 0) process.exitCode = 1;

function changelog(text: string): readonly string[] {
  return text.includes(`\n## ${version}`) ? [] : [`CHANGELOG.md has no section ${version}`];
}
