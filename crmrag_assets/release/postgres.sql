-- Schema `graph`: the tables of design document 002 (its columns come first in each), and what a release needs besides.
-- {dimension} is the length of the encoder's vectors. Indexes of a search are made release by release when one is published:
-- an index that is built at once is better and sooner there than one that grows, and goes with its release.

CREATE SCHEMA graph;

-- `current`: the one to be searched by who names none. `metadata`: labels of properties, counts.
CREATE TABLE graph.releases (
    release TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    current BOOLEAN NOT NULL DEFAULT false,
    metadata JSONB NOT NULL,
    created_at TIMESTAMPTZ DEFAULT now()
);
CREATE UNIQUE INDEX releases_current ON graph.releases (dataset) WHERE current;

-- `search_text`: the folded words of the entity's document, "" where it has none of its own. `document_id`: the IRI of the entity
-- whose document tells of it; of what was read from a page the document of that, as published, and `entity_type` its type there. `importance`: PageRank; `degree`: triples that join it with others; `minor`: a mere name or text.
-- Numbers are of 64 bits: each release takes new ones.
CREATE TABLE graph.entities (
    entity_id BIGSERIAL PRIMARY KEY,
    name TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    description TEXT,
    source_page_id TEXT,
    document_id TEXT NOT NULL,
    search_tsv TSVECTOR,
    search_embedding vector({dimension}),
    metadata JSONB,
    created_at TIMESTAMPTZ DEFAULT now(),
    iri TEXT NOT NULL,
    release TEXT NOT NULL,
    search_text TEXT,
    category TEXT NOT NULL,
    importance REAL NOT NULL DEFAULT 0,
    degree INT NOT NULL DEFAULT 0,
    minor BOOLEAN NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX entities_iri ON graph.entities (release, iri);
CREATE UNIQUE INDEX entities_read ON graph.entities (release, document_id, entity_type, name) WHERE source_page_id IS NOT NULL;
CREATE INDEX entities_category ON graph.entities (release, category);

-- A triple: `weight` is the number of pages that it was read from, 1 where it was not; `iri` is its property, `relationship_type` the label of that. `source_place`: its place among the triples of its
-- source and property, those to the most important targets first; `target_place` likewise, seen from its target.
CREATE TABLE graph.relationships (
    relationship_id BIGSERIAL PRIMARY KEY,
    source_entity_id BIGINT NOT NULL REFERENCES graph.entities ON DELETE CASCADE,
    target_entity_id BIGINT NOT NULL REFERENCES graph.entities ON DELETE CASCADE,
    relationship_type TEXT NOT NULL,
    description TEXT,
    weight REAL DEFAULT 1.0,
    source_page_id TEXT,
    search_embedding vector({dimension}),
    metadata JSONB,
    created_at TIMESTAMPTZ DEFAULT now(),
    iri TEXT COLLATE "C" NOT NULL,
    release TEXT NOT NULL,
    source_place INT NOT NULL DEFAULT 0,
    target_place INT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX relationships_once
    ON graph.relationships (source_entity_id, target_entity_id, iri, coalesce(source_page_id, ''));
CREATE INDEX relationships_source ON graph.relationships (source_entity_id, source_place);
CREATE INDEX relationships_target ON graph.relationships (target_entity_id, target_place);

-- Level 0 is the finest. `entity_ids` is kept by a trigger when an entity goes; `community_members` has their order.
CREATE TABLE graph.communities (
    community_id BIGSERIAL PRIMARY KEY,
    level INT NOT NULL,
    title TEXT,
    summary TEXT,
    summary_model TEXT,
    entity_ids BIGINT[] NOT NULL,
    search_tsv TSVECTOR,
    search_embedding vector({dimension}),
    metadata JSONB,
    created_at TIMESTAMPTZ DEFAULT now(),
    stable_id TEXT NOT NULL,
    parent TEXT NOT NULL DEFAULT '',
    release TEXT NOT NULL,
    search_text TEXT
);
CREATE UNIQUE INDEX communities_id ON graph.communities (release, stable_id);
CREATE INDEX communities_level ON graph.communities (level, release);

CREATE TABLE graph.community_members (
    community_id BIGINT NOT NULL REFERENCES graph.communities ON DELETE CASCADE,
    entity_id BIGINT NOT NULL REFERENCES graph.entities ON DELETE CASCADE,
    place INT NOT NULL,
    PRIMARY KEY (community_id, place)
);
CREATE INDEX community_members_entity ON graph.community_members (entity_id);

-- Parts of long texts: `entity_id` is whom the text describes, `home_id` the entity whose document it leads to.
CREATE TABLE graph.passages (
    passage_id BIGSERIAL PRIMARY KEY,
    entity_id BIGINT NOT NULL REFERENCES graph.entities ON DELETE CASCADE,
    home_id BIGINT NOT NULL REFERENCES graph.entities ON DELETE CASCADE,
    label TEXT NOT NULL,
    text TEXT NOT NULL,
    first INT NOT NULL,
    last INT NOT NULL,
    search_text TEXT,
    search_tsv TSVECTOR,
    search_embedding vector({dimension}),
    release TEXT NOT NULL
);
CREATE INDEX passages_entity ON graph.passages (entity_id);
CREATE INDEX passages_home ON graph.passages (home_id);
CREATE INDEX passages_release ON graph.passages (release);

-- Every name of an entity as names are compared: folded, in Latin letters (`name`); `words`: what spellings of each word share;
-- `weight`: of these together, a rare one weighs more.
CREATE TABLE graph.names (
    entity_id BIGINT NOT NULL REFERENCES graph.entities ON DELETE CASCADE,
    name TEXT NOT NULL,
    words TEXT[] NOT NULL,
    weight REAL NOT NULL,
    release TEXT NOT NULL
);
CREATE INDEX names_entity ON graph.names (entity_id);
CREATE INDEX names_name ON graph.names (release, name);

-- In how many texts, or names, each word stands.
CREATE TABLE graph.words (
    release TEXT NOT NULL,
    of_names BOOLEAN NOT NULL,
    word TEXT NOT NULL,
    rows INT NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (release, of_names, word)
);

CREATE FUNCTION graph.forget_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE graph.communities SET entity_ids = array_remove(entity_ids, OLD.entity_id) WHERE community_id = OLD.community_id;
    RETURN NULL;
END $$;
CREATE TRIGGER forget_member AFTER DELETE ON graph.community_members FOR EACH ROW EXECUTE FUNCTION graph.forget_member();

-- Vectors beside the rest of their rows: to compare many, PostgreSQL would fetch each from elsewhere.
ALTER TABLE graph.entities ALTER COLUMN search_embedding SET STORAGE MAIN;
ALTER TABLE graph.passages ALTER COLUMN search_embedding SET STORAGE MAIN;
