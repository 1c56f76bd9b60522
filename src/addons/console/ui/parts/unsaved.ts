/** The browser asks before it leaves the page and drops texts that are not saved. */
export function holdsDrafts(has: () => boolean): void {
  addEventListener('beforeunload', (event) => {
    if (has()) event.preventDefault();
  });
}
