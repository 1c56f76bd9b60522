export type Jose = typeof import('jose');

export const INSTALL_JOSE = 'the check `jwt` needs the package `jose`: run `npm install jose@6` beside the gateway';

/** An optional peer: only guards with the check `jwt` need it. */
export const loadJose = (): Promise<Jose> => import('jose');

/** For a check of the settings that loads nothing. */
export function hasJose(): boolean {
  try {
    import.meta.resolve('jose');
    return true;
  } catch {
    return false;
  }
}
