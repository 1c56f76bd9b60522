import { execFileSync } from 'node:child_process';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly type?: string;
  readonly licenses?: readonly { readonly license?: { readonly id?: string; readonly name?: string } }[];
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn?: readonly string[];
}

/** A CycloneDX document as npm writes it. `bom-ref` is the name of a package, `@` and its version. */
export interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

/** All packages in the package-lock.json of a folder, those of development too. */
export const npmBom = (folder: string): Bom =>
  JSON.parse(
    execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    }),
  ) as Bom;

/**
 * The parts that users run: the published package and those that npm installs with it.
 *
 * @param installed the packages of a folder into which only the package was installed
 * @param root `bom-ref` of the published package
 */
export function shippedBom(installed: Bom, root: string): Bom {
  const own = installed.components.find((component) => component['bom-ref'] === root);
  if (!own) throw new Error(`${root} is not among the installed packages`);
  const { 'bom-ref': folder } = installed.metadata.component;
  return {
    ...installed,
    metadata: { ...installed.metadata, component: { ...own, type: 'application' } },
    components: installed.components.filter((component) => component !== own),
    dependencies: installed.dependencies.filter(({ ref }) => ref !== folder),
  };
}

/** Licences that permit the use of a package in one under Apache-2.0. */
const PERMITTED = /^(?:MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|Unlicense|CC0-1\.0)$/;

/** Packages without a licence, or with one that was not looked at. */
export const unlicensed = ({ components }: Bom): readonly string[] =>
  components.flatMap(({ 'bom-ref': ref, licenses = [] }) => {
    const ids = licenses.map(({ license }) => license?.id ?? license?.name ?? '');
    return ids.length > 0 && ids.every((id) => PERMITTED.test(id))
      ? []
      : [`${ref}: licence ${ids.join(', ') || 'missing'}`];
  });
