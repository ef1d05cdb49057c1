{-# LANGUAGE MultiParamTypeClasses #-}
{-# LANGUAGE OverloadedStrings #-}

-- | Steps beside plain reads and writes: other users, discovery, and requests of the program's own
-- by the client's, for tables and paths that are not resources.
module Raw (steps) where

import Data.Aeson (Value (..), encode, object, (.=))
import qualified Data.ByteString as ByteString
import qualified Data.ByteString.Lazy as BL
import qualified Data.Map as Map
import Data.Proxy (Proxy (..))
import Data.Text (Text)
import qualified Data.Text as Text
import qualified Data.Text.Encoding as Text
import qualified Data.Vector as Vector
import qualified Data.Yaml as Yaml
import Harness
import qualified Kubernetes.Client as Client
import Kubernetes.OpenAPI
import qualified Kubernetes.OpenAPI.API.Apis as Apis
import qualified Kubernetes.OpenAPI.API.AppsV1 as Apps
import qualified Kubernetes.OpenAPI.API.CoreV1 as Core
import qualified Kubernetes.OpenAPI.API.RbacAuthorizationV1 as Rbac
import qualified Kubernetes.OpenAPI.API.Version as Version
import Network.HTTP.Client (responseBody)
import System.Directory (getTemporaryDirectory)
import System.FilePath ((</>))

steps :: Connection -> Text -> FilePath -> [FilePath] -> [(Text, Step)]
steps client space kubeconfig certificate =
  [ ("a kubeconfig with a certificate", certified certificate),
    ("a table", always (table client namespace)),
    ("paths that are not resources", always (paths client)),
    ("discovery", always (discovery client)),
    ("a service account's token, of a kubeconfig and from a file", always (token client kubeconfig namespace))
  ]
  where
    namespace = Namespace space

-- | Any request of no operation of the API.
data Any

instance Produces Any MimeJSON

-- | The media type of tables.
data Table = Table

instance MimeType Table where
  mimeType _ = Just "application/json;as=Table;v=v1;g=meta.k8s.io"

request :: Text -> BL.ByteString -> KubernetesRequest Any MimeJSON Value MimeJSON
request method path =
  _mkRequest (Text.encodeUtf8 method) [path] `_hasAuthType` (Proxy :: Proxy AuthApiKeyBearerToken)

certified :: [FilePath] -> Step
certified [] = pure (Just "this server signs no certificates")
certified (file : _) = always $ do
  client <- connect file
  let review = object ["apiVersion" .= text "authentication.k8s.io/v1", "kind" .= text "SelfSubjectReview"]
  got <- send client (request "POST" "/apis/authentication.k8s.io/v1/selfsubjectreviews" `_setBodyLBS` encode review)
  equal (at ["status", "userInfo", "username"] got) (String "certified")

table :: Connection -> Namespace -> IO ()
table client@(Connection manager config) namespace = do
  let with = Just (Map.fromList [("a", "1")])
      shown = mkV1ConfigMap {v1ConfigMapMetadata = Just (named "shown"), v1ConfigMapData = with}
  _ <- send client (Core.createNamespacedConfigMap body json shown namespace)
  let asTable = Core.listNamespacedConfigMap (Accept Table) namespace -&- FieldSelector "metadata.name=shown"
  got <- dispatchLbsUnsafe manager config asTable >>= decoded . responseBody
  equal (at ["kind"] got) (String "Table")
  equal (map (at ["name"]) (items (at ["columnDefinitions"] got))) (map String ["Name", "Data", "Age"])
  equal (map (take 1 . items . at ["cells"]) (items (at ["rows"] got))) [[String "shown"]]
  where
    items (Array found) = Vector.toList found
    items other = [other]

paths :: Connection -> IO ()
paths client@(Connection manager config) = do
  version <- send client Version.getCode
  holds ("v1." `Text.isPrefixOf` versionInfoGitVersion version) (show version)
  got <- dispatchLbsUnsafe manager config (request "GET" "/readyz")
  equal (responseBody got) "ok"

discovery :: Connection -> IO ()
discovery client = do
  groups <- send client (Apis.getAPIVersions json)
  let apps = filter ((== "apps") . v1APIGroupName) (v1APIGroupListGroups groups)
      preferred = map (fmap v1GroupVersionForDiscoveryGroupVersion . v1APIGroupPreferredVersion) apps
  equal preferred [Just "apps/v1"]
  resources <- send client (Apps.getAPIResources json)
  let deployments = filter ((== "Deployment") . v1APIResourceKind) (v1APIResourceListResources resources)
      found = [(v1APIResourceName r, v1APIResourceNamespaced r) | r <- deployments]
  equal (take 1 found) [("deployments", True)]

-- | The kubeconfig, with another user's credentials.
as :: FilePath -> Value -> IO Connection
as kubeconfig credentials = do
  config <- Yaml.decodeFileThrow kubeconfig
  user <- model credentials
  folder <- getTemporaryDirectory
  let file = folder </> "kubeconfig"
  let users = [Client.NamedEntity name user | Client.NamedEntity name _ <- Client.authInfos config]
  Yaml.encodeFile file config {Client.authInfos = users}
  connect file

token :: Connection -> FilePath -> Namespace -> IO ()
token client kubeconfig namespace@(Namespace space) = do
  let account = mkV1ServiceAccount {v1ServiceAccountMetadata = Just (named "reader")}
      ask' = mkAuthenticationV1TokenRequest (mkV1TokenRequestSpec []) {v1TokenRequestSpecExpirationSeconds = Just 3600}
      shown = Core.readNamespacedConfigMap json (Name "shown") namespace
  _ <- send client (Core.createNamespacedServiceAccount body json account namespace)
  made <- send client (Core.createNamespacedServiceAccountToken body json ask' (Name "reader") namespace)
  secret <- maybe (wrong (show made)) (pure . v1TokenRequestStatusToken) (authenticationV1TokenRequestStatus made)
  reader <- as kubeconfig (object ["token" .= secret])
  message <- refused 403 "Forbidden" reader shown
  let who = "User \"system:serviceaccount:" <> space <> ":reader\" cannot get resource \"configmaps\""
  holds (who `Text.isInfixOf` message) (show message)
  letRead client namespace
  folder <- getTemporaryDirectory
  ByteString.writeFile (folder </> "token") (Text.encodeUtf8 secret)
  filed <- as kubeconfig (object ["tokenFile" .= (folder </> "token")])
  eventually "the account may read" (mayRead filed shown)

letRead :: Connection -> Namespace -> IO ()
letRead client namespace@(Namespace space) = do
  let rule =
        object
          [ "apiGroups" .= [text ""],
            "resources" .= [text "configmaps"],
            "resourceNames" .= [text "shown"],
            "verbs" .= [text "get"]
          ]
      subject = object ["kind" .= text "ServiceAccount", "name" .= text "reader", "namespace" .= space]
      reference =
        object ["apiGroup" .= text "rbac.authorization.k8s.io", "kind" .= text "Role", "name" .= text "reader"]
  role <- model (object ["metadata" .= named "reader", "rules" .= [rule]])
  binding <- model (object ["metadata" .= named "reader", "subjects" .= [subject], "roleRef" .= reference])
  _ <- send client (Rbac.createNamespacedRole body json role namespace)
  _ <- send client (Rbac.createNamespacedRoleBinding body json binding namespace)
  pure ()

mayRead :: Connection -> KubernetesRequest Core.ReadNamespacedConfigMap MimeNoContent V1ConfigMap MimeJSON -> IO Bool
mayRead (Connection manager config) shown = do
  found <- dispatchMime' manager config shown
  case found of
    Right got -> True <$ equal (v1ConfigMapData got) (Just (Map.fromList [("a", "1")]))
    Left e -> False <$ holds (mimeError e == "error statusCode: 403") (show e)
