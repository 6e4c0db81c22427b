-- Empties the history and keeps everything else: a fresh start for every soul on this database.
--
--   removed   souls and all that hangs on them: emotion history, sessions, messages and what finds them again, turns,
--             versions of personas and inner states, preferences, memory slots, facts, plans, relations with people,
--             which chats were imported, outbox, what the model's calls have cost, and which session an event was drawn from
--   unbound   terminals: they keep their catalog and skills, and wait for a new soul to be selected
--   kept      the schema, the library (characters and their pictures, backgrounds, templates), the events and the API keys
--
-- Stop the server and make a backup first: there is no way back. Then, on PostgreSQL or on SQLite:
--
--   psql "$SOULGRAPH_DATABASE_URL" --set=ON_ERROR_STOP=1 --file=scripts/reset_soul_history.sql
--   sqlite3 -bail data/soulgraph.db < scripts/reset_soul_history.sql
--
-- Afterwards create the souls anew and select one for each terminal.

BEGIN;

-- Children first: SQLite's shell does not follow foreign keys by itself.
DELETE FROM outbox;
DELETE FROM usage;
DELETE FROM lives;
DELETE FROM inner_versions;
DELETE FROM relations;
DELETE FROM slots;
DELETE FROM facts;
DELETE FROM plans;
DELETE FROM chat_imports;
DELETE FROM preferences;
DELETE FROM turns;
DELETE FROM emotion_history;
DELETE FROM event_provenance;
DELETE FROM persona_versions;
DELETE FROM episode_uses;
DELETE FROM episode_vectors;
DELETE FROM episodes;
DELETE FROM messages;
DELETE FROM sessions;
UPDATE terminals SET soul_id = NULL;
DELETE FROM souls;

COMMIT;
