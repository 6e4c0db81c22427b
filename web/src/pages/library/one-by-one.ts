/**
 * Saves values in the order in which they are wanted. Of those that come while one is being saved only the newest is
 * saved, because it has all that the others had. Says of each whether that succeeded; after a failure nothing else is tried.
 */
export function oneByOne<Value>(saveOne: (value: Value) => Promise<boolean>): (value: Value) => Promise<boolean> {
  let newest: Value;
  let saving: Promise<boolean> | null = null;
  const saveAll = async () => {
    let saved: Value;
    do {
      saved = newest;
      if (!(await saveOne(saved))) return false;
    } while (saved !== newest);
    return true;
  };
  return (value) => {
    newest = value;
    saving ??= saveAll().finally(() => {
      saving = null;
    });
    return saving;
  };
}
