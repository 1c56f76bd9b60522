/** A text that this browser keeps. Null: there is none, or the browser keeps nothing. */
export function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Null removes it. A browser without storage forgets it with the page. */
export function store(name: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // It holds until the page ends.
  }
}
