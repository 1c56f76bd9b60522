/** package.json, as far as a registry and npm read it. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  readonly license?: string;
  readonly private?: boolean;
  readonly type?: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly types?: string;
  readonly files?: readonly string[];
  readonly engines?: Readonly<Record<string, string>>;
  readonly repository?: { readonly type?: string; readonly url?: string };
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Whether the package names the repository that publishes it. */
interface OriginCheck {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/**
 * npm takes a statement of provenance only if repository.url names the repository of the workflow. A check elsewhere cannot know that
 * repository.
 *
 * @param workflow `owner/name`, which GitHub sets in GITHUB_REPOSITORY
 */
export function checkOrigin({ repository }: Manifest, workflow: string | undefined): OriginCheck {
  const url = repository?.url ?? 'nothing';
  if (workflow === undefined) {
    const note = `repository.url is ${url}: npm refuses the provenance of a package that another repository publishes, so set the real one first`;
    return { problems: [], notes: [note] };
  }
  const wanted = `git+https://github.com/${workflow}.git`;
  if (url === wanted) return { problems: [], notes: [] };
  const problem = `package.json: repository.url is ${url}, and this workflow belongs to ${wanted}: npm would refuse the provenance`;
  return { problems: [problem], notes: [] };
}

const NAME = 'gatehouse-gateway';
const NEEDED = ['./plugin', './plugin/testing'];

/** Faults of package.json that forbid to publish the package with provenance. */
export function checkManifest(manifest: Manifest): readonly string[] {
  const { name, version = '', license, bin, exports = {}, engines, repository, publishConfig } = manifest;
  const problems: readonly (readonly [ok: boolean, problem: string])[] = [
    [name === NAME, `name must be ${NAME}: \`gatehouse\` on npm is another project's`],
    [/^\d+\.\d+\.\d+(?:-[0-9a-z.]+)?$/.test(version), 'version must be a semantic version'],
    [(manifest.description ?? '') !== '', 'description is missing'],
    [license === 'Apache-2.0', 'license must be Apache-2.0, as the file LICENSE says'],
    [manifest.private !== true, 'private must not be set: npm refuses to publish such a package'],
    [bin?.['gatehouse'] !== undefined, 'bin.gatehouse is missing'],
    [engines?.['node'] === '>=24', 'engines.node must be >=24, as src/cli/node-version.js says'],
    // npm compares this address with the one in the signed statement of the workflow.
    [
      /^git\+https:\/\/github\.com\/[\w.-]+\/[\w.-]+\.git$/.test(repository?.url ?? ''),
      'repository.url must name GitHub',
    ],
    [publishConfig?.provenance === true, 'publishConfig.provenance must be true'],
    [publishConfig?.access === 'public', 'publishConfig.access must be public'],
    ...NEEDED.map((path): readonly [boolean, string] => {
      const target = exports[path];
      const complete = typeof target === 'object' && Object.keys(target)[0] === 'types' && 'default' in target;
      return [complete, `exports["${path}"] must have types, then default`];
    }),
    ...Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies }).map(
      ([dependency, range]): readonly [boolean, string] => [
        /^\d+\.\d+\.\d+$/.test(range),
        `${dependency} must be one version, not ${range}`,
      ],
    ),
    // In a checkout npm must install them whatever Node runs npm; see build/README.md.
    ...Object.entries(manifest.optionalDependencies ?? {}).map(([dependency, version]): readonly [boolean, string] => [
      manifest.devDependencies?.[dependency] === version,
      `${dependency} must be in devDependencies too, with the same version`,
    ]),
  ];
  return problems.flatMap(([ok, problem]) => (ok ? [] : [`package.json: ${problem}`]));
}
