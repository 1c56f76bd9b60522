/** Roles, each with the rights of those before it. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The names in scopes: the first part of an operation's id; `requests` are records and explanations. */
export const RESOURCES = [
  'organizations',
  'teams',
  'keys',
  'limits',
  'budgets',
  'prices',
  'alerts',
  'usage',
  'ledger',
  'audit',
  'tokens',
  'requests',
  'settings',
  'providers',
  'configs',
  'playground',
  'prompts',
] as const;

/** Calls that read what another resource is made of. */
const SAME_AS: Readonly<Record<string, string>> = {
  captures: 'requests',
  stream: 'requests',
  stats: 'requests',
  'prompt-cache': 'requests',
  find: 'settings',
  plugins: 'settings',
  people: 'tokens',
  schemas: 'settings',
};

export const scopeOf = (resource: string): string => SAME_AS[resource] ?? resource;

export const SCOPES = RESOURCES.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const);

export const isRole = (text: unknown): text is Role => ROLES.some((role) => role === text);

export const includesRole = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);

/** The right to write a resource includes the right to read it. */
export const includesScope = (scopes: readonly string[] | undefined, resource: string, write: boolean): boolean =>
  scopes === undefined || scopes.includes(`${resource}:write`) || (!write && scopes.includes(`${resource}:read`));
