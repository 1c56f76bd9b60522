import { execFileSync } from 'node:child_process';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly type?: string;
  readonly licenses?: readonly { readonly license?: { readonly id?: string; readonly name?: string } }[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
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

/** The packages in the bundle, by the heads of dist/third-party-licenses.txt: `koa 3.3.0 (MIT)`. */
export const bundledPackages = (licenses: string): readonly string[] =>
  [...licenses.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) (\d+\.\d+\.\d+\S*) \([^)]+\)$/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  );

interface Parts {
  /** Packages of a folder into which only the package was installed. */
  readonly installed: Bom;
  /** Packages of the repository. */
  readonly repository: Bom;
  readonly bundled: readonly string[];
  /** `bom-ref` of the published package. */
  readonly root: string;
}

/**
 * What users run: the packages that npm installs with the published one, and those in its bundle, which npm counts among the
 * packages of development. Throws if a package of the bundle is not in the repository's package-lock.json.
 */
export function shippedBom({ installed, repository, bundled, root }: Parts): Bom {
  const present = new Set(installed.components.map((component) => component['bom-ref']));
  const inBundle = bundled.filter((ref) => !present.has(ref));
  const fromBundle = inBundle.map((ref): Component => {
    const found = repository.components.find((component) => component['bom-ref'] === ref);
    if (!found) throw new Error(`${ref} is in the bundle and not in package-lock.json`);
    return { ...found, properties: [{ name: 'gatehouse:bundled', value: 'true' }] };
  });
  const own = installed.components.find((component) => component['bom-ref'] === root);
  if (!own) throw new Error(`${root} is not among the installed packages`);
  const components = [...installed.components.filter((component) => component !== own), ...fromBundle];
  const refs = new Set([root, ...components.map((component) => component['bom-ref'])]);
  const ofRepository = new Map(repository.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const dependencies = [
    ...installed.dependencies.filter(({ ref }) => refs.has(ref)),
    ...inBundle.map((ref) => ({ ref, dependsOn: ofRepository.get(ref) ?? [] })),
  ].map(({ ref, dependsOn = [] }) => {
    const all = ref === root ? [...dependsOn, ...(ofRepository.get(root) ?? [])] : dependsOn;
    return { ref, dependsOn: [...new Set(all)].filter((other) => refs.has(other)) };
  });
  return {
    ...installed,
    metadata: { ...installed.metadata, component: { ...own, type: 'application' } },
    components,
    dependencies,
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
