"""A trial of a folder of Chroma in a process of its own: damaged index files end the process that reads them.

It is run as a file and imports nothing of ours, so that it costs no more than Chroma does: it reads every vector, and
searches by many of them.
"""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

_PAGE = 200
_SEARCHES = 1000
_TIMEOUT_S = 60.0


def damage_in(folder: Path, collection: str) -> str:
    """What is wrong with the index in this folder; empty if it can be read, or there is none yet."""
    # Until there is such a file, all lies in Chroma's own database: damage there is refused, and kills nobody.
    if not any(folder.glob("*/index_metadata.pickle")):
        return ""
    command = [sys.executable, "-P", __file__, str(folder), collection]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    try:
        tried = subprocess.run(command, env=environment, capture_output=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"its index could not be read within {_TIMEOUT_S:g} s"
    if tried.returncode < 0:
        return f"its index is damaged: reading it ended with {signal.Signals(-tried.returncode).name}"
    last_words = tried.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    # Where this process finds Chroma and another one does not, nothing was tried.
    return "" if tried.returncode == 0 or "ModuleNotFoundError" in last_words else last_words


def _read(folder: str, name: str) -> None:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))
    if name not in {collection.name for collection in client.list_collections()}:
        return
    collection = client.get_collection(name, embedding_function=None)
    every = max(collection.count() // _SEARCHES, 1)
    for start in range(0, collection.count(), _PAGE):
        page = collection.get(limit=_PAGE, offset=start, include=["embeddings"])
        vectors = page["embeddings"]
        if vectors is not None and len(vectors):
            collection.query(query_embeddings=vectors[::every], n_results=10, include=["distances"])


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # that it may end by a signal is what it is for
    _read(*sys.argv[1:])
