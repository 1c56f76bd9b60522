/** Neither half of a session opens anything alone: the cookie goes to every port of its host, a script can read only the header. */
export const CSRF_HEADER = 'x-gatehouse-csrf';

const NAME = 'gatehouse';
const SECURE_NAME = `__Host-${NAME}`;

/** The session in a `Cookie` header; a secure one first. */
export function cookieOf(header: string | undefined): string | undefined {
  const found = new Map((header ?? '').split(/; ?/).map((one) => one.split('=', 2) as [string, string]));
  const value = found.get(SECURE_NAME) ?? found.get(NAME);
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}

/** Sets or, without a value, removes the cookie. */
export function setCookie(value: string, { secure, seconds }: { secure: boolean; seconds: number }): string {
  const name = secure ? SECURE_NAME : NAME;
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}
